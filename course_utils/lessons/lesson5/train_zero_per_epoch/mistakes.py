"""What is often done instead in exercise 5.4: the mistakes of any loop with one step a batch."""

from __future__ import annotations

from course_utils.lessons.lesson5 import mistakes as shared

never_cleared = shared.never_cleared
cleared_before_the_step = shared.cleared_before_the_step
zeros_before_the_step = shared.zeros_before_the_step
cleared_once_an_epoch = shared.cleared_once_an_epoch
first_group_alone_cleared = shared.first_group_alone_cleared
some_parameters_not_cleared = shared.some_parameters_not_cleared
cleared_at_every_second_step = shared.cleared_at_every_second_step
weights_were_zeroed = shared.weights_were_zeroed
stepped_once_an_epoch = shared.stepped_once_an_epoch
stepped_on_the_last_batch_alone = shared.stepped_on_the_last_batch_alone
used_the_batch_before = shared.used_the_batch_before
stepped_between_forward_and_backward = shared.stepped_between_forward_and_backward
never_stepped = shared.never_stepped
nothing_went_backward = shared.nothing_went_backward
stepped_twice_a_batch = shared.stepped_twice_a_batch
stopped_after_the_first_epoch = shared.stopped_after_the_first_epoch
stopped_after_the_first_batch = shared.stopped_after_the_first_batch
batches_counted_twice = shared.batches_counted_twice
each_batch_for_all_epochs = shared.each_batch_for_all_epochs
gradients_of_the_epochs_first_weights = shared.gradients_of_the_epochs_first_weights
divided_by_the_number_of_batches = shared.divided_by_the_number_of_batches
memory_lost = shared.memory_lost
plain_descent = shared.plain_descent
a_frozen_parameter_moved = shared.a_frozen_parameter_moved
hooks_left_behind = shared.hooks_left_behind
