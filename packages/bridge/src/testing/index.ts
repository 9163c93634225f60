/** Chain nodes for the tests of other packages. */

export { EvmNode } from "./evm-node.js";
export { RpcProxy } from "./rpc-proxy.js";
