/** Perpgate as a CCXT exchange. */

export { Perpgate, Perpgate as default, Perpgate as perpgate } from "./perpgate.js";
