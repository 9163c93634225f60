/**
 * Writes orders and the acknowledgements of their placements, which are one row. A slice has the
 * acknowledgement just before the first state of its order; later states change few columns.
 */
import { EXTENDED_ROW, ORDER_ROW, ORDER_ROW_WORDS } from "../order-row.js";
import { type AckCells, ackCells, orderCells, PLACEMENT_COLUMNS } from "../row-codecs.js";
import { type Cell, type Database, prepare, type Statement } from "../sqlite.js";

const CHANGING = {
  price: ORDER_ROW.PRICE,
  lots: ORDER_ROW.LOTS,
  margin: ORDER_ROW.MARGIN,
  status: ORDER_ROW.STATUS,
  reason: ORDER_ROW.REASON,
  filled_lots: ORDER_ROW.FILLED_LOTS,
  filled_micros: ORDER_ROW.FILLED_MICROS,
  fee: ORDER_ROW.FEE,
  remaining: ORDER_ROW.REMAINING,
  updated_after: ORDER_ROW.UPDATED,
} as const;
/** A plain order may get them by an amendment. */
const CHANGING_TERMS = {
  time_in_force: EXTENDED_ROW.TIME_IN_FORCE,
  expires: EXTENDED_ROW.EXPIRES,
  stop_trigger: EXTENDED_ROW.TRIGGER,
  limit_price: EXTENDED_ROW.LIMIT,
  close_position: EXTENDED_ROW.CLOSE_POSITION,
} as const;
const NO_ACK: readonly Cell[] = Array<null>(PLACEMENT_COLUMNS).fill(null);

class Update {
  private readonly places: readonly number[];
  private readonly statement: Statement;

  constructor(database: Database, columns: Readonly<Record<string, number>>) {
    this.places = Object.values(columns);
    const set = Object.keys(columns).map((name) => `${name} = ?`);
    this.statement = prepare(database, `UPDATE order_rows SET ${set.join(", ")} WHERE id = ?`);
  }

  /** Returns whether there is such an order. */
  run(order: readonly Cell[]): boolean {
    const cells = this.places.map((place) => order[place]!);
    return this.statement.run(...cells, order[ORDER_ROW.ID]!).changes > 0;
  }
}

export class OrderWriter {
  private readonly insert: Statement;
  private readonly insertAck: Statement;
  private readonly updatePlain: Update;
  private readonly updateExtended: Update;
  /** Of the command whose order is written next. */
  private placement: AckCells | undefined;

  constructor(database: Database) {
    const marks = (table: string): string => {
      const columns = prepare(database, `PRAGMA table_info(${table})`).all();
      return columns.map(() => "?").join(", ");
    };
    const into = (table: string) =>
      prepare(database, `INSERT INTO ${table} VALUES (${marks(table)})`);
    this.insert = into("order_rows");
    this.insertAck = into("ack_rows");
    this.updatePlain = new Update(database, CHANGING);
    this.updateExtended = new Update(database, { ...CHANGING, ...CHANGING_TERMS });
  }

  putAck(key: Buffer, value: Buffer): void {
    const ack = ackCells(key, value);
    if (ack.isPlacement) this.placement = ack;
    else this.insertAck.run(...ack.cells);
  }

  putOrder(value: Buffer): void {
    const cells = orderCells(value);
    const { placement } = this;
    if (placement !== undefined && placement.seq === cells[ORDER_ROW.ID]) {
      this.placement = undefined;
      this.insert.run(...cells, ...placement.fields);
      return;
    }
    const isPlain = value.length === ORDER_ROW_WORDS * 8;
    const update = isPlain ? this.updatePlain : this.updateExtended;
    // An exit has no acknowledgement of its own.
    if (!update.run(cells)) this.insert.run(...cells, ...NO_ACK);
  }
}
