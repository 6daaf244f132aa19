"""A plan of a store year carried out in compiled code: the twin of :func:`commerce.plan.execute`, to the fen."""
