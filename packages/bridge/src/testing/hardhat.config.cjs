/** The chain of the tests: each transaction is mined immediately in its own block. */
module.exports = {
  solidity: "0.8.26",
  networks: { hardhat: { chainId: Number(process.env.CHAIN_ID), initialBaseFeePerGas: 0 } },
};
