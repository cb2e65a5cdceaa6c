# The program compiles its recorder when it runs: which symbols it must export depends on the libomptarget of the day.
tests/runtime/threads.cflags := -DSOURCE_FOLDER='"$(abspath tests/runtime/threads)"'
