/** Colour in a terminal, unless NO_COLOR is set. */

export type Tone = "good" | "bad" | "dim" | "strong" | "plain";

/** Adds the escape sequences of the tone, or nothing. */
export type Paint = (text: string, tone: Tone) => string;

const CODES: Readonly<Record<Exclude<Tone, "plain">, string>> = {
  good: "32",
  bad: "31",
  dim: "2",
  strong: "1",
};

export const noPaint: Paint = (text) => text;

export const colours: Paint = (text, tone) =>
  tone === "plain" || text === "" ? text : `\x1b[${CODES[tone]}m${text}\x1b[0m`;

interface Surroundings {
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** See no-color.org: any non-empty value turns colour off. */
export function paintFor({ isTerminal, environment }: Surroundings): Paint {
  const { NO_COLOR = "", TERM } = environment;
  return isTerminal && NO_COLOR === "" && TERM !== "dumb" ? colours : noPaint;
}

export function signTone(value: number): Tone {
  if (value === 0) return "plain";
  return value > 0 ? "good" : "bad";
}
