"""The benchmark's tools: what a model sees of them, what runs when it calls one, and the toolbox that joins the two."""
