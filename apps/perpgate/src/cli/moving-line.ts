/** Progress on standard error: one moving line in a terminal, one line a step in a file. */
export function showStep(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
}

/** Before the result: nothing of the moving line stays. */
export function endSteps(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}
