/** A line of a scenario, word by word. Every problem names file, line and column. */

import { durationMs } from "../durations.js";

export class ScenarioError extends RangeError {
  override readonly name = "ScenarioError";
}

export interface Word {
  readonly text: string;
  readonly column: number;
}

export class Words {
  private at = 0;
  private readonly words: readonly Word[];

  constructor(
    readonly file: string,
    readonly line: number,
    private readonly text: string,
  ) {
    const [content = ""] = text.split("#");
    this.words = [...content.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
      text: word,
      column: index + 1,
    }));
  }

  get isOver(): boolean {
    return this.at >= this.words.length;
  }

  /** @throws ScenarioError with `expected` if the line is over. */
  next(expected: string): Word {
    const word = this.words[this.at++];
    if (word !== undefined) return word;
    throw this.problem(`expected ${expected} here`, this.text.trimEnd().length + 1);
  }

  rest(): string {
    const texts = this.words.slice(this.at).map(({ text }) => text);
    this.at = this.words.length;
    return texts.join(" ");
  }

  one<T extends string>(what: string, choices: readonly T[]): T {
    const word = this.next(what);
    const found = choices.find((choice) => choice === word.text);
    if (found !== undefined) return found;
    throw this.problem(`${what} is ${listOf(choices)}, not ${word.text}`, word.column);
  }

  number(what: string): number {
    const word = this.next(what);
    return this.numberIn(word.text, what, word.column);
  }

  duration(what: string): number {
    const { text, column } = this.next(what);
    return this.durationIn(text, column);
  }

  /** Whether the next word is this one; then it is read. */
  skip(text: string): boolean {
    const isNext = this.words[this.at]?.text === text;
    if (isNext) this.at++;
    return isNext;
  }

  /** The rest of the line: `name=value`, each of the names at most once. */
  settings<N extends string>(names: readonly N[]): ReadonlyMap<N, Word> {
    const found = new Map<N, Word>();
    while (!this.isOver) {
      const { text, column } = this.next("a setting");
      const [name = "", value] = text.split("=");
      const known = names.find((one) => one === name);
      if (known === undefined || value === undefined || value === "") {
        throw this.problem(
          `write ${names.map((one) => `${one}=…`).join(" ")}, not ${text}`,
          column,
        );
      }
      if (found.has(known)) throw this.problem(`${known} is given twice`, column);
      found.set(known, { text: value, column: column + name.length + 1 });
    }
    return found;
  }

  numberIn(text: string, what: string, column: number): number {
    if (/^[+-]?\d+(\.\d+)?$/.test(text)) return Number(text);
    throw this.problem(`${what} is a number, not ${text}`, column);
  }

  durationIn(text: string, column: number): number {
    return this.within(column, () => durationMs(text));
  }

  end(): void {
    const word = this.words[this.at];
    if (word !== undefined)
      throw this.problem(`the line goes on after its end: ${word.text}`, word.column);
  }

  /** What `work` refuses becomes a problem of this place. */
  within<T>(column: number, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof RangeError) || error instanceof ScenarioError) throw error;
      throw this.problem(error.message, column);
    }
  }

  problem(what: string, column: number): ScenarioError {
    return new ScenarioError(`${this.file}:${this.line}:${column}: ${what}`);
  }
}

export function listOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}
