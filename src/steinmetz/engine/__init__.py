"""Engine: runs a study through all stages and keeps what came out."""
