"""The contenders in C++: the hand-written twin of Tulle's SpMM, and Eigen."""
