/** Commands in messages. They reach the same account at the same gateway, so they work as printed. */

export type Hint = (call: string) => string;

/** `url` as it was given with `--url`; a profile's own address needs no flag. */
export function hintFor(profile: string, url: string | undefined): Hint {
  const flags = [
    profile === "default" ? "" : ` --profile ${profile}`,
    url === undefined ? "" : ` --url ${quoted(url)}`,
  ].join("");
  return (call) => `perpgate ${call}${flags}`;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
