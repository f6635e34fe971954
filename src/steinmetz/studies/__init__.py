"""Studies: one TOML file each, and the typed configuration they fill."""
