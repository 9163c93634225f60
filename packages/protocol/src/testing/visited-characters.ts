/**
 * The cost of a function in characters: each call of `charCodeAt` counts one, and a regular expression
 * counts the whole text that it is applied to, because its engine may visit it many times.
 */

import { vi } from "vitest";

export interface VisitedCharacters {
  readonly byCode: number;
  readonly byRegularExpression: number;
}

export function visitedCharacters(run: () => void): VisitedCharacters {
  const codes = vi.spyOn(String.prototype, "charCodeAt");
  const executions = vi.spyOn(RegExp.prototype, "exec");
  const replacements = vi.spyOn(RegExp.prototype, Symbol.replace);
  try {
    run();
    const texts = [...executions.mock.calls, ...replacements.mock.calls].map(([text]) => text);
    return {
      byCode: codes.mock.calls.length,
      byRegularExpression: texts.reduce((sum, text) => sum + text.length, 0),
    };
  } finally {
    for (const spy of [codes, executions, replacements]) spy.mockRestore();
  }
}
