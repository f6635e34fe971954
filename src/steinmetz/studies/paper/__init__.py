"""The paper, figure by figure: one TOML file per figure or table, and `arms.toml` with the methods they compare."""
