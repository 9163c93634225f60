/** Test support: a simulated disk that fails on request, processes, and waits for conditions. */
export { FakeDisk, type Fault, SimulatedCrash } from "./fake-disk.js";
export { freePort } from "./free-port.js";
export { childrenOf, descendantsOf, processesOf } from "./process-tree.js";
export { POLL, until } from "./until.js";
