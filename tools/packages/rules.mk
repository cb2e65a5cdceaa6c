# Release archive and Debian packages. Their tests are tests/packages.

.PHONY: dist deb
dist:  ## make the release archive and its checksum in build/dist; equal sources give equal bytes
	@tools/packages/dist '$(VERSION)'
	$(call tell,build/dist/librex-$(VERSION).tar.xz is made; next: unpack it and run make there)
deb:  ## make Debian packages in build/deb (installs missing packages)
	@tools/deps deb
	@tools/packages/deb '$(VERSION)'
	$(call tell,Debian packages are in build/deb; next: sudo apt install ./build/deb/*.deb)
