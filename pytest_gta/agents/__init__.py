"""Agents: what is under test. One method, `run`; everything else here finds, builds, runs and records one."""
