"""The bundled dataset `mini`, and the scripts that make every file in it."""
