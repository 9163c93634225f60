// A chain in memory, alone on this machine. Nothing is compiled here, so nothing is downloaded.
module.exports = {
  networks: { hardhat: { chainId: 31337 } },
};
