#!/bin/sh
# The shapes of tests/oracle compute on the GPU what clang's own computed.
set -eu
exec sh tests/oracle/run --gpu
