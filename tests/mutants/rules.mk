# make mutants: changes librex at random and sees whether the tests notice; tests/mutants/run -h says how.
WORK += mutants
mutants:  ## change a copy of librex at random (default SEED=1 COUNT=20), and check that the quick tests fail; K=text changes only files whose path contains this text
run-mutants: test-programs
	@$(test_env) tests/mutants/run --seed $(or $(SEED),1) --count $(or $(COUNT),20) $(if $(K),-k '$(K)')
