"""The device of this example: a patch panel that stores its ports in a JSON file."""

import json
import os
import tempfile

from devgate_program import Failed

# Whether the programs are persistent. Both values work.
PERSISTENT = True


class Panel:
    """A panel, opened with the connection info that devgate passes as `_target`."""

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
        """Replaces the file atomically."""
        handle, name = tempfile.mkstemp(dir=os.path.dirname(self.file) or ".")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=2)
        os.replace(name, self.file)
