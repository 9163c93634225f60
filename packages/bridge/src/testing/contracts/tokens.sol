// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.26;

/// An ordinary ERC-20, as USDC behaves towards a depositor.
contract Token {
    string public symbol;
    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(string memory symbol_, uint8 decimals_) {
        symbol = symbol_;
        decimals = decimals_;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) internal {
        require(balanceOf[from] >= value, "balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// Keeps a part of each transfer, and tells the net amount in its log, as Tether's contract would.
contract FeeToken is Token {
    address public immutable owner = msg.sender;

    constructor() Token("USDT", 6) {}

    function transfer(address to, uint256 value) external override returns (bool) {
        uint256 fee = value / 100;
        move(msg.sender, owner, fee);
        move(msg.sender, to, value - fee);
        return true;
    }
}

/// Says Transfer and moves nothing.
contract FalseToken {
    string public symbol = "USDC";
    uint8 public constant decimals = 6;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function transfer(address to, uint256 value) external returns (bool) {
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// The right words in the wrong places: nothing of this is an ERC-20 Transfer.
contract OddEvents {
    event Transfer(address indexed from, address indexed to, uint256 indexed value);
    event Approval(address indexed from, address indexed to, uint256 value);

    function shout(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
        emit Approval(msg.sender, to, value);
    }
}

/// Pays out of its own balance, several times in one transaction.
contract Splitter {
    function pay(Token[] calldata tokens, address[] calldata to, uint256[] calldata values) external {
        for (uint256 i = 0; i < tokens.length; i++) tokens[i].transfer(to[i], values[i]);
    }
}

/// Moves what it is asked to and returns nothing, as Tether's contract on Ethereum.
contract SilentToken {
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external {
        require(balanceOf[msg.sender] >= value, "balance");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}

/// Behaves as the last call of behave said.
contract HostileToken is Token {
    enum Mode {
        Honest,
        ReturnFalse,
        ReturnTwo,
        Revert,
        MoveNothing,
        ChargeSender,
        CreditSender,
        Reenter
    }

    Mode private mode;
    bytes private call;
    /// What the call of `Reenter` returned.
    bytes public answer;

    constructor() Token("USDC", 6) {}

    function behave(Mode mode_, bytes calldata call_) external {
        (mode, call) = (mode_, call_);
    }

    function transfer(address to, uint256 value) external override returns (bool) {
        if (mode == Mode.ReturnFalse) return false;
        if (mode == Mode.ReturnTwo) {
            assembly {
                mstore(0, 2)
                return(0, 32)
            }
        }
        if (mode == Mode.Revert) revert("no");
        if (mode == Mode.MoveNothing) return true;
        if (mode == Mode.ChargeSender) move(msg.sender, address(this), 1);
        if (mode == Mode.CreditSender) balanceOf[msg.sender] += 2 * value;
        if (mode == Mode.Reenter) (, answer) = msg.sender.call(call);
        move(msg.sender, to, value);
        return true;
    }
}
