import { expect, test } from "vitest";
import { inOneLine, StartError } from "./start-error.js";

test("a message of several lines: printed as one", () => {
  expect(new StartError("cannot read it:\n  line 1\n\n  line 2  ").text).toBe(
    "perpgate: cannot read it: line 1 line 2\n",
  );
  expect(inOneLine("one line ")).toBe("one line ");
});
