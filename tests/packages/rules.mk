# What is tested of archives and packages takes minutes, and clean roots of Debian from its mirror: apart from make check.

.PHONY: check-packages run-check-packages
check-packages:  ## test archive, CMake package and Debian packages, in clean roots of Debian as root; K=pattern for some
	@tools/deps packages
	@+$(submake) run-check-packages
run-check-packages: library tools
	@$(test_env) tests/packages/run $(if $(K),'$(K)')
