"""Sweeps: many runs of one command, of which only the missing ones are made, each in a process of its own."""
