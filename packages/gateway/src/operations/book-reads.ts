/**
 * Books as JSON, asked of the core once for all clients that want the same one in a turn of the event loop.
 *
 * A read that joins another began before the core was asked, so it sees what it would have seen alone. So
 * however many clients read a book, the core is asked at most once a turn for each depth.
 */

import type { CoreAccess } from "@perpgate/link";
import type { Book } from "@perpgate/protocol";
import type { getBook, ParamsOf, QueryOf } from "@perpgate/protocol/operations";

type Params = ParamsOf<typeof getBook>;
type Query = QueryOf<typeof getBook>;

export class BookReads {
  private turn = new Map<string, Promise<string>>();

  constructor(private readonly link: Pick<CoreAccess, "request">) {}

  /** As one client asks; the text is shared. */
  text(params: Params, query: Query): Promise<string> {
    const { turn } = this;
    const name = `${params.symbol} ${query.depth}`;
    let text = turn.get(name);
    if (text === undefined) {
      if (turn.size === 0) setImmediate(() => this.endTurn());
      text = this.read(params, query);
      turn.set(name, text);
    }
    return text;
  }

  /** Not `clear`, with which V8 keeps the texts of all turns until the next full collection. */
  private endTurn(): void {
    this.turn = new Map();
  }

  private async read(params: Params, query: Query): Promise<string> {
    const { result } = await this.link.request("getBook", { params, query });
    return bookText(result);
  }
}

/** Faster than the schema's serialiser: most of a book is numbers. */
function bookText({ symbol, seq, block, time, bids, asks }: Book): string {
  return (
    `{"symbol":${JSON.stringify(symbol)},"seq":${seq},"block":${block},"time":${time},` +
    `"bids":${JSON.stringify(bids)},"asks":${JSON.stringify(asks)}}`
  );
}
