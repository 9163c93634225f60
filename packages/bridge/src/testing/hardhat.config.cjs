/** The chain of the tests. Automatic mining, so that each transaction has its block at once. */
module.exports = {
  solidity: "0.8.26",
  networks: { hardhat: { chainId: Number(process.env.CHAIN_ID), initialBaseFeePerGas: 0 } },
};
