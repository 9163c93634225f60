/** The parts below `Engine`, for benches and tests that measure or check one part alone. */

export { Ladder } from "./book/ladder.js";
export { LEVEL_NEXT, LINKS, NONE, ORDER, ORDER_WORDS, OrderStore } from "./state/orders.js";
export { UndoLog } from "./state/table.js";
export { accountsDue } from "./tick/liquidations.js";
