"""The device of this example: a patch panel that keeps what it is told in a file of JSON."""

import json
import os
import tempfile

from devgate_program import Failed

# Whether the programs stay and are asked line by line; either way works.
PERSISTENT = True


class Panel:
    """A panel, opened with the connection info that devgate gives as `_target`."""

    def __init__(self, target):
        self.file = target["file"]
        try:
            with open(self.file, encoding="utf-8") as file:
                self.data = json.load(file)
        except OSError as error:
            raise Failed(f"there is no panel at {self.file}: {error.strerror}") from error
        if self.data["password"] != target["password"]:
            raise Failed("the panel refuses the password", "panel/refused")

    @property
    def ports(self):
        return self.data["ports"]

    def save(self):
        """Writes the file whole or not at all."""
        handle, name = tempfile.mkstemp(dir=os.path.dirname(self.file) or ".")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=2)
        os.replace(name, self.file)
