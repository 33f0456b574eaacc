"""Tests of the readers of other agents' session files."""
