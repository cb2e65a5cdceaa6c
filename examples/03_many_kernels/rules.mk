# fabs and fmax
examples/03_many_kernels.libs := -lm
