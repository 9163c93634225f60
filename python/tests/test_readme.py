import os
import unittest

import perpgate
from support import ROOT


class Readme(unittest.TestCase):
    def test_every_method_is_listed(self):
        with open(os.path.join(ROOT, "python", "README.md"), encoding="utf-8") as file:
            page = file.read()
        kinds = (perpgate.Client, perpgate.Session, perpgate.Stream, perpgate.Book, perpgate.Wallet)
        names = {name for kind in kinds for name in dir(kind) if not name.startswith("_")}
        self.assertEqual({name for name in names if f"`{name}`" not in page}, set())
        self.assertEqual({name for name in perpgate.__all__ if f"`{name}" not in page}, set())

    def test_its_programs_compile(self):
        with open(os.path.join(ROOT, "python", "README.md"), encoding="utf-8") as file:
            blocks = [block for block in file.read().split("```") if block.startswith("python")]
        self.assertGreater(len(blocks), 2)
        for block in blocks:
            compile(block.partition("\n")[2], "README.md", "exec")
