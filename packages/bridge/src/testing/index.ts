/** Chain nodes for the tests of other packages. */

export { EvmNode } from "./evm-node.js";
export { RpcProxy } from "./rpc-proxy.js";
export { ScriptedChain, ScriptedVault } from "./scripted-vault.js";
export { ATTESTORS, COLD_KEYS, keysOf, VaultChain } from "./vault-chain.js";
