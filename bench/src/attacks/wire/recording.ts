/**
 * Everything that an attack put on the wire, with the time of each step, so that the same bytes can
 * be sent to a server that discards them. Buffers are kept by reference: attacks build them once.
 */
export type WireStep =
  | { readonly atMs: number; readonly line: number; readonly act: "open" | "end" | "destroy" }
  | { readonly atMs: number; readonly line: number; readonly act: "write"; readonly bytes: Buffer };

export class Recording {
  readonly steps: WireStep[] = [];
  private startedMs = performance.now();

  start(): void {
    this.startedMs = performance.now();
  }

  note(line: number, act: "open" | "end" | "destroy"): void {
    this.steps.push({ atMs: performance.now() - this.startedMs, line, act });
  }

  noteWrite(line: number, bytes: Buffer): void {
    this.steps.push({ atMs: performance.now() - this.startedMs, line, act: "write", bytes });
  }
}
