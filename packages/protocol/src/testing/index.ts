/** Sample data for tests and benchmarks of other packages. */

export * from "./forged-evidence.js";
export * from "./listening.js";
export * from "./sample-books.js";
export { SampleKey } from "./sample-log.js";
export * from "./test-cosigner.js";
