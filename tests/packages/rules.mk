# What is tested of archives and packages takes minutes, and clean roots of Debian from its mirror: apart from make check.
# What is built anew there chooses its own flags.

WORK += check-packages
check-packages: deps = packages
check-packages:  ## test the archive, the CMake package, the recipes for RPM, EasyBuild and Spack, and the Debian packages; the parts are cmake, recipes, dist, deb and roots (clean roots of Debian, skipped if you are not root); K='deb dist' runs only these two
run-check-packages: library tools
	@for test in $(or $(K),cmake recipes dist deb roots); do \
	    echo "== $$test"; \
	    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(test_env) SAN= sh tests/packages/$$test.sh </dev/null || [ $$? = 77 ] || exit 1; \
	done
