"""What run directories say together: convergence, comparisons and the report. Reads files; needs no torch."""
