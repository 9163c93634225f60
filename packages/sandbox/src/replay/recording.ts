/** Files of recordings as one sequence of events, by time. */

import { basename } from "node:path";
import { type RecordedEvent, RecordingError } from "./events.js";
import { Cells, layoutOf } from "./layouts.js";
import { openRows } from "./rows.js";

export interface Recording {
  /** Of the first event. */
  readonly startMs: number;
  /** As the files name them. */
  next(): Promise<RecordedEvent | undefined>;
  /** The event that `next` would give. */
  readonly ahead: RecordedEvent | undefined;
}

/** @throws RecordingError */
export async function openRecording(files: readonly string[]): Promise<Recording> {
  if (files.length === 0) throw new RecordingError("a recording is at least one file");
  const sources = await Promise.all(files.map((file) => Source.open(file)));
  const earliest = (): Source | undefined => {
    let found: Source | undefined;
    for (const source of sources) {
      if (source.ahead === undefined) continue;
      if (found?.ahead === undefined || source.ahead.timeMs < found.ahead.timeMs) found = source;
    }
    return found;
  };
  const first = earliest()?.ahead;
  if (first === undefined)
    throw new RecordingError(`${files.map((file) => basename(file)).join(", ")}: no rows`);
  return {
    startMs: first.timeMs,
    get ahead() {
      return earliest()?.ahead;
    },
    next: async () => earliest()?.next(),
  };
}

/** One file. */
class Source {
  private readonly waiting: RecordedEvent[] = [];
  private at = 0;

  private constructor(private readonly rows: AsyncIterator<readonly RecordedEvent[]>) {}

  static async open(path: string): Promise<Source> {
    const source = new Source(eventsIn(path));
    await source.fill();
    return source;
  }

  get ahead(): RecordedEvent | undefined {
    return this.waiting[this.at];
  }

  async next(): Promise<RecordedEvent | undefined> {
    const event = this.waiting[this.at++];
    if (this.at >= this.waiting.length) await this.fill();
    return event;
  }

  private async fill(): Promise<void> {
    this.waiting.length = 0;
    this.at = 0;
    while (this.waiting.length === 0) {
      const { value, done } = await this.rows.next();
      if (done === true) return;
      this.waiting.push(...value);
    }
  }
}

async function* eventsIn(path: string): AsyncGenerator<readonly RecordedEvent[]> {
  const opened = await openRows(path);
  const { layout, columns } = layoutOf(opened);
  const cells = new Cells(opened.name, columns);
  const convert = layout.convert(symbolIn(opened.name));
  let lastMs = 0;
  for await (const row of opened.rows) {
    cells.take(row.place, row.cells);
    const events = convert(cells);
    const timeMs = events[0]?.timeMs ?? lastMs;
    if (timeMs < lastMs) throw cells.problem("times never go back: this row is earlier");
    lastMs = timeMs;
    yield events;
  }
}

/** `BTCUSDT-aggTrades-2026-01-01.csv`: up to the first hyphen. */
function symbolIn(file: string): string {
  return file.split("-")[0] ?? file;
}
