/** Chain nodes for the tests of other packages. */

export { EvmNode } from "./evm-node.js";
export { RpcProxy } from "./rpc-proxy.js";
export { ATTESTORS, COLD_KEYS, VaultChain } from "./vault-chain.js";
