// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A wallet that one key owns and that vouches for its signatures (EIP-1271). For tests only.
contract ContractWallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        address signer = ecrecover(hash, uint8(signature[64]), r, s);
        return signer != address(0) && signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Deploys wallets to addresses that are known before (CREATE2), as EIP-6492 needs.
contract ContractWalletFactory {
    function addressOf(address owner) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ContractWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }

    function deploy(address owner) external returns (address) {
        return address(new ContractWallet{salt: 0}(owner));
    }
}
