"""Materials: which potential Ψ(x) describes one, and how its slopes become stress."""
