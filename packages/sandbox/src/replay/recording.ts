/** Files of recordings as one sequence of events, by time. */

import { type RecordedEvent, RecordingError } from "./events.js";
import { Cells, layoutOf } from "./layouts.js";
import { nameOf, openRows, type RecordingFile, type Rows } from "./rows.js";

export type { RecordingFile } from "./rows.js";

export interface Recording {
  /** Of the first event. */
  readonly startMs: number;
  /** As the files name them. @throws RecordingError */
  next(): Promise<RecordedEvent | undefined>;
  /** The event that `next` would give. */
  readonly ahead: RecordedEvent | undefined;
  /** What is wrong with the event that `next` gave last: with its file and place. */
  problem(what: string): RecordingError;
  /** Closes the files; `next` gives no more events. */
  close(): Promise<void>;
}

/** Nobody replays a year: a file counts another unit of time. */
const MAX_MS = 366 * 86_400_000;

/** @throws RecordingError */
export async function openRecording(files: readonly RecordingFile[]): Promise<Recording> {
  if (files.length === 0) throw new RecordingError("a recording is at least one file");
  const sources: Source[] = [];
  const close = async () => {
    for (const source of sources) await source.close();
  };
  try {
    for (const file of files) sources.push(await Source.open(file));
  } catch (error) {
    await close();
    throw error;
  }
  const earliest = (): Source | undefined => {
    let found: Source | undefined;
    for (const source of sources) {
      if (source.ahead === undefined) continue;
      if (found?.ahead === undefined || source.ahead.timeMs < found.ahead.timeMs) found = source;
    }
    return found;
  };
  const first = earliest()?.ahead;
  if (first === undefined) throw new RecordingError(`${files.map(nameOf).join(", ")}: no rows`);
  let place = "";
  const problem = (what: string) => new RecordingError(`${place}: ${what}`);
  return {
    startMs: first.timeMs,
    get ahead() {
      return earliest()?.ahead;
    },
    next: async () => {
      const source = earliest();
      if (source?.ahead === undefined) return undefined;
      place = source.place;
      if (source.ahead.timeMs - first.timeMs > MAX_MS) {
        throw problem("its time is more than 366 days after the first one");
      }
      return source.next();
    },
    problem,
    close,
  };
}

/** One file. */
class Source {
  private waiting: readonly RecordedEvent[] = [];
  private at = 0;
  private row = 0;

  private constructor(
    private readonly file: Rows,
    private readonly rows: AsyncIterator<RowEvents>,
  ) {}

  static async open(file: RecordingFile): Promise<Source> {
    const opened = await openRows(file);
    const source = new Source(opened, eventsIn(opened));
    try {
      await source.fill();
    } catch (error) {
      await source.close();
      throw error;
    }
    return source;
  }

  async close(): Promise<void> {
    this.waiting = [];
    await this.file.close();
  }

  get ahead(): RecordedEvent | undefined {
    return this.waiting[this.at];
  }

  /** Of the event ahead. */
  get place(): string {
    return `${this.file.name}:${this.row}`;
  }

  async next(): Promise<RecordedEvent | undefined> {
    const event = this.waiting[this.at++];
    if (this.at >= this.waiting.length) await this.fill();
    return event;
  }

  private async fill(): Promise<void> {
    this.waiting = [];
    this.at = 0;
    while (this.waiting.length === 0) {
      const { value, done } = await this.rows.next();
      if (done === true) return;
      this.waiting = value.events;
      this.row = value.place;
    }
  }
}

interface RowEvents {
  readonly place: number;
  readonly events: readonly RecordedEvent[];
}

async function* eventsIn(opened: Rows): AsyncGenerator<RowEvents> {
  const { layout, columns } = layoutOf(opened);
  const cells = new Cells(opened.name, columns);
  const convert = layout.convert(symbolIn(opened.name));
  let lastMs = 0;
  for await (const row of opened.rows) {
    cells.take(row.place, row.cells);
    const events = convert(cells);
    const timeMs = events[0]?.timeMs ?? lastMs;
    if (timeMs < lastMs)
      throw cells.problem("times never go back, this row is earlier: sort the file by time");
    lastMs = timeMs;
    yield { place: row.place, events };
  }
}

/** `BTCUSDT-aggTrades-2026-01-01.csv`: up to the first hyphen. */
function symbolIn(file: string): string {
  return file.split("-")[0] ?? file;
}
