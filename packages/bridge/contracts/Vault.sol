// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.26;

interface Token {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
}

/// Holds the tokens of one venue on one chain. A deposit is a plain transfer to this address; the only way out
/// is `request`, signed by the quorum of attestors, and `finalize` after the dispute period. There is no
/// owner, no upgrade, no delegatecall and no other transfer. The rules are explained in docs/vault.md.
contract Vault {
    // What is signed, EIP-712. The domain has chain id, vault and venue; each action has a type of its own.

    /// By the quorum of attestors. `id` is the withdrawal's position in the venue's log.
    struct Withdrawal {
        address token;
        address account;
        uint128 amount;
        uint64 id;
        uint64 deadline;
    }

    // By the quorum of cold keys. `sequence` is the vault's at the time of signing.

    struct Unlock {
        uint64 sequence;
        uint64 expiry;
    }

    struct SetAttestors {
        address[] attestors;
        uint256 quorum;
        uint64 sequence;
        uint64 expiry;
    }

    struct SetGuardians {
        address[] guardians;
        uint64 sequence;
        uint64 expiry;
    }

    /// Lists the token if it is not listed.
    struct SetCaps {
        address token;
        uint128 hourFloor;
        uint128 dayFloor;
        uint64 sequence;
        uint64 expiry;
    }

    struct Invalidate {
        uint64[] ids;
        uint64 sequence;
        uint64 expiry;
    }

    struct TokenCaps {
        address token;
        uint128 hourFloor;
        uint128 dayFloor;
    }

    struct Setup {
        bytes32 venue;
        uint32 disputeSeconds;
        uint32 disputeBlocks;
        address[] attestors;
        uint256 attestorQuorum;
        address[] guardians;
        address[] coldKeys;
        uint256 coldQuorum;
        TokenCaps[] tokens;
    }

    enum Status {
        Unknown,
        Pending,
        Paid,
        Invalid
    }

    struct Request {
        address token;
        uint48 requestedAt;
        uint48 requestedBlock;
        address account;
        uint64 deadline;
        Status status;
        uint128 amount;
    }

    /// A change that waits for its dispute period; there is at most one.
    struct Proposal {
        bytes32 structHash;
        uint64 proposedAt;
        uint64 proposedBlock;
        uint64 expiry;
    }

    struct Group {
        address[] members;
        mapping(address => bool) isMember;
        uint256 quorum;
    }

    /// What was requested in one part of a window; `number` is its time divided by the part's width.
    struct Part {
        uint64 number;
        uint128 amount;
    }

    struct TokenState {
        bool isListed;
        uint128 hourFloor;
        uint128 dayFloor;
        mapping(uint256 => Part) hour;
        mapping(uint256 => Part) day;
    }

    error VaultLocked();
    error VaultNotLocked();
    error NotGuardian();
    error IdUsed();
    error NotPending();
    error DeadlinePassed();
    error DisputePeriod();
    error TokenNotListed();
    error HourCap(uint256 cap, uint256 used);
    error DayCap(uint256 cap, uint256 used);
    error SignatureCount();
    error SignatureMalformed();
    error SignerOrder();
    error SignerUnknown();
    error TransferFailed();
    error WrongSequence();
    error WrongExpiry();
    error NotProposed();
    error InvalidMembers();
    error InvalidQuorum();
    error InvalidPeriod();
    error InvalidToken();
    error Reentered();

    event Requested(
        uint64 indexed id, address indexed account, address indexed token, uint128 amount, uint64 deadline
    );
    event Paid(uint64 indexed id, address indexed account, address indexed token, uint128 amount);
    event Invalidated(uint64 indexed id);
    event Locked(address indexed guardian);
    event Unlocked();
    event UnlockProposed(Unlock data);
    event AttestorsProposed(SetAttestors data);
    event GuardiansProposed(SetGuardians data);
    event CapsProposed(SetCaps data);
    event AttestorsChanged(address[] attestors, uint256 quorum);
    event GuardiansChanged(address[] guardians);
    event CapsChanged(address indexed token, uint128 hourFloor, uint128 dayFloor);

    bytes32 private constant DOMAIN_TYPE = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)"
    );
    bytes32 private constant NAME_HASH = keccak256("Perpgate Vault");
    bytes32 private constant VERSION_HASH = keccak256("1");
    bytes32 private constant WITHDRAWAL_TYPE =
        keccak256("Withdrawal(address token,address account,uint128 amount,uint64 id,uint64 deadline)");
    bytes32 private constant UNLOCK_TYPE = keccak256("Unlock(uint64 sequence,uint64 expiry)");
    bytes32 private constant SET_ATTESTORS_TYPE =
        keccak256("SetAttestors(address[] attestors,uint256 quorum,uint64 sequence,uint64 expiry)");
    bytes32 private constant SET_GUARDIANS_TYPE =
        keccak256("SetGuardians(address[] guardians,uint64 sequence,uint64 expiry)");
    bytes32 private constant SET_CAPS_TYPE = keccak256(
        "SetCaps(address token,uint128 hourFloor,uint128 dayFloor,uint64 sequence,uint64 expiry)"
    );
    bytes32 private constant INVALIDATE_TYPE =
        keccak256("Invalidate(uint64[] ids,uint64 sequence,uint64 expiry)");

    /// Half of the order of secp256k1: of the two signatures (s and n - s) only the low one is valid.
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;
    uint256 private constant SIGNATURE_BYTES = 65;

    /// Bounds of all loops.
    uint256 private constant MAX_MEMBERS = 32;
    uint256 private constant MAX_TOKENS = 32;

    /// A signature without an end is never valid: an expiry further ahead than this is refused.
    uint256 private constant MAX_ADMIN_LIFE = 7 days;
    uint256 private constant MAX_DISPUTE_SECONDS = 7 days;
    uint256 private constant MAX_DISPUTE_BLOCKS = 100_000;

    /// A window is the current part and the whole ones before it, so that no hour and no day, wherever
    /// it begins, has more than its cap.
    uint256 private constant HOUR_PART = 10 minutes;
    uint256 private constant HOUR_PARTS = 7;
    uint256 private constant DAY_PART = 2 hours;
    uint256 private constant DAY_PARTS = 13;
    uint256 private constant HOUR_DIVISOR = 100;
    uint256 private constant DAY_DIVISOR = 10;

    // One slot. Both periods and `venue` are never written after the construction; they are not immutable so
    // that the code of every vault is the same bytes.
    uint32 public disputeSeconds;
    uint32 public disputeBlocks;
    uint48 public unlockedAt;
    uint48 public unlockedBlock;
    /// Of the next administration. A lock and each administration use one up.
    uint64 public sequence;
    bool public isLocked;
    bool private isEntered;

    bytes32 public venue;
    Proposal public proposal;
    Group private attestors;
    Group private guardians;
    /// Never change.
    Group private coldKeys;
    address[] private tokens;
    mapping(address => TokenState) private tokenStates;
    mapping(uint64 => Request) private requests;

    /// One guard for everything that writes.
    modifier guarded() {
        if (isEntered) revert Reentered();
        isEntered = true;
        _;
        isEntered = false;
    }

    constructor(Setup memory setup) {
        if (setup.disputeSeconds == 0 || setup.disputeSeconds > MAX_DISPUTE_SECONDS) revert InvalidPeriod();
        if (setup.disputeBlocks == 0 || setup.disputeBlocks > MAX_DISPUTE_BLOCKS) revert InvalidPeriod();
        venue = setup.venue;
        disputeSeconds = setup.disputeSeconds;
        disputeBlocks = setup.disputeBlocks;
        // First: the others may not contain a cold key.
        setMembers(coldKeys, setup.coldKeys);
        setQuorum(coldKeys, setup.coldQuorum);
        setMembers(attestors, setup.attestors);
        setQuorum(attestors, setup.attestorQuorum);
        setMembers(guardians, setup.guardians);
        emit AttestorsChanged(setup.attestors, setup.attestorQuorum);
        emit GuardiansChanged(setup.guardians);
        for (uint256 i = 0; i < setup.tokens.length; i++) {
            TokenCaps memory caps = setup.tokens[i];
            setCaps(caps.token, caps.hourFloor, caps.dayFloor);
        }
    }

    // Withdrawals

    /// Starts the dispute period of a withdrawal. Anyone may call it; the signatures authorise it.
    function request(Withdrawal calldata data, bytes calldata signatures) external guarded {
        if (isLocked) revert VaultLocked();
        Request storage entry = requests[data.id];
        if (entry.status != Status.Unknown) revert IdUsed();
        if (block.timestamp + disputeSeconds > data.deadline) revert DeadlinePassed();
        bytes32 structHash = keccak256(
            abi.encode(WITHDRAWAL_TYPE, data.token, data.account, data.amount, data.id, data.deadline)
        );
        requireSignatures(attestors, structHash, signatures);
        countAgainstCaps(data.token, data.amount);
        entry.token = data.token;
        entry.requestedAt = uint48(block.timestamp);
        entry.requestedBlock = uint48(block.number);
        entry.account = data.account;
        entry.deadline = data.deadline;
        entry.status = Status.Pending;
        entry.amount = data.amount;
        emit Requested(data.id, data.account, data.token, data.amount, data.deadline);
    }

    /// Pays a withdrawal after its dispute period and until its deadline. Anyone may call it.
    function finalize(uint64 id) external guarded {
        if (isLocked) revert VaultLocked();
        Request storage entry = requests[id];
        if (entry.status != Status.Pending) revert NotPending();
        if (block.timestamp > entry.deadline) revert DeadlinePassed();
        (uint256 time, uint256 number) = payableFrom(id);
        if (block.timestamp < time || block.number < number) revert DisputePeriod();
        entry.status = Status.Paid;
        emit Paid(id, entry.account, entry.token, entry.amount);
        pay(Token(entry.token), entry.account, entry.amount);
    }

    /// When the dispute period of a pending withdrawal ends, in time and in blocks. Unlocking restarts it.
    function payableFrom(uint64 id) public view returns (uint256 time, uint256 number) {
        Request storage entry = requests[id];
        time = max(entry.requestedAt, unlockedAt) + disputeSeconds;
        number = max(entry.requestedBlock, unlockedBlock) + disputeBlocks;
    }

    // Administration

    /// Stops requests and payments, and voids the pending proposal and everything the cold keys have signed.
    function lock() external guarded {
        if (!guardians.isMember[msg.sender]) revert NotGuardian();
        // A stolen guardian key must not void the cold keys' work of repair again and again.
        if (isLocked) revert VaultLocked();
        isLocked = true;
        sequence++;
        delete proposal;
        emit Locked(msg.sender);
    }

    /// Ends ids for good, whether they were requested or not; without a dispute period, but only while locked.
    function invalidate(Invalidate calldata data, bytes calldata signatures) external guarded {
        if (!isLocked) revert VaultNotLocked();
        requireColdKeys(hashOf(data), data.sequence, data.expiry, signatures);
        if (block.timestamp > data.expiry) revert WrongExpiry();
        for (uint256 i = 0; i < data.ids.length; i++) {
            Request storage entry = requests[data.ids[i]];
            if (entry.status > Status.Pending) revert IdUsed();
            entry.status = Status.Invalid;
            emit Invalidated(data.ids[i]);
        }
    }

    function proposeUnlock(Unlock calldata data, bytes calldata signatures) external guarded {
        if (!isLocked) revert VaultNotLocked();
        propose(hashOf(data), data.sequence, data.expiry, signatures);
        emit UnlockProposed(data);
    }

    function finalizeUnlock(Unlock calldata data) external guarded {
        takeProposal(hashOf(data));
        isLocked = false;
        unlockedAt = uint48(block.timestamp);
        unlockedBlock = uint48(block.number);
        emit Unlocked();
    }

    function proposeAttestors(SetAttestors calldata data, bytes calldata signatures) external guarded {
        propose(hashOf(data), data.sequence, data.expiry, signatures);
        emit AttestorsProposed(data);
    }

    function finalizeAttestors(SetAttestors calldata data) external guarded {
        takeProposal(hashOf(data));
        setMembers(attestors, data.attestors);
        setQuorum(attestors, data.quorum);
        emit AttestorsChanged(data.attestors, data.quorum);
    }

    function proposeGuardians(SetGuardians calldata data, bytes calldata signatures) external guarded {
        propose(hashOf(data), data.sequence, data.expiry, signatures);
        emit GuardiansProposed(data);
    }

    function finalizeGuardians(SetGuardians calldata data) external guarded {
        takeProposal(hashOf(data));
        setMembers(guardians, data.guardians);
        emit GuardiansChanged(data.guardians);
    }

    function proposeCaps(SetCaps calldata data, bytes calldata signatures) external guarded {
        propose(hashOf(data), data.sequence, data.expiry, signatures);
        emit CapsProposed(data);
    }

    function finalizeCaps(SetCaps calldata data) external guarded {
        takeProposal(hashOf(data));
        setCaps(data.token, data.hourFloor, data.dayFloor);
    }

    // Reads

    function withdrawal(uint64 id) external view returns (Request memory) {
        return requests[id];
    }

    function attestorGroup() external view returns (address[] memory members, uint256 quorum) {
        return (attestors.members, attestors.quorum);
    }

    function guardianGroup() external view returns (address[] memory members) {
        return guardians.members;
    }

    function coldKeyGroup() external view returns (address[] memory members, uint256 quorum) {
        return (coldKeys.members, coldKeys.quorum);
    }

    function listedTokens() external view returns (TokenCaps[] memory list) {
        list = new TokenCaps[](tokens.length);
        for (uint256 i = 0; i < list.length; i++) {
            TokenState storage state = tokenStates[tokens[i]];
            list[i] = TokenCaps(tokens[i], state.hourFloor, state.dayFloor);
        }
    }

    /// Both caps of a token at this moment, and what counts against them.
    function capsOf(address token)
        public
        view
        returns (uint256 hourCap, uint256 hourUsed, uint256 dayCap, uint256 dayUsed)
    {
        TokenState storage state = tokenStates[token];
        uint256 holdings = Token(token).balanceOf(address(this));
        hourCap = max(holdings / HOUR_DIVISOR, state.hourFloor);
        dayCap = max(holdings / DAY_DIVISOR, state.dayFloor);
        hourUsed = usedIn(state.hour, HOUR_PART, HOUR_PARTS);
        dayUsed = usedIn(state.day, DAY_PART, DAY_PARTS);
    }

    /// Computed at each use: after a fork of the chain the signatures of the other side are invalid.
    function domainSeparator() public view returns (bytes32) {
        return
            keccak256(abi.encode(DOMAIN_TYPE, NAME_HASH, VERSION_HASH, block.chainid, address(this), venue));
    }

    // Signatures

    /// Exactly a quorum of signatures, r ‖ s ‖ v, in the strictly ascending order of their signers.
    function requireSignatures(Group storage group, bytes32 structHash, bytes calldata signatures)
        private
        view
    {
        uint256 quorum = group.quorum;
        if (signatures.length != quorum * SIGNATURE_BYTES) revert SignatureCount();
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domainSeparator(), structHash));
        address previous = address(0);
        for (uint256 i = 0; i < quorum; i++) {
            bytes calldata one = signatures[i * SIGNATURE_BYTES:(i + 1) * SIGNATURE_BYTES];
            bytes32 s = bytes32(one[32:64]);
            uint8 v = uint8(one[64]);
            if (uint256(s) > HALF_ORDER || (v != 27 && v != 28)) revert SignatureMalformed();
            // Zero for what is no signature; zero is no member.
            address signer = ecrecover(digest, v, bytes32(one[:32]), s);
            if (!group.isMember[signer]) revert SignerUnknown();
            if (signer <= previous) revert SignerOrder();
            previous = signer;
        }
    }

    function requireColdKeys(
        bytes32 structHash,
        uint64 signedSequence,
        uint64 expiry,
        bytes calldata signatures
    ) private {
        if (signedSequence != sequence) revert WrongSequence();
        if (expiry > block.timestamp + MAX_ADMIN_LIFE) revert WrongExpiry();
        requireSignatures(coldKeys, structHash, signatures);
        sequence++;
    }

    /// Replaces the pending proposal, if there is one.
    function propose(bytes32 structHash, uint64 signedSequence, uint64 expiry, bytes calldata signatures)
        private
    {
        requireColdKeys(structHash, signedSequence, expiry, signatures);
        if (block.timestamp + disputeSeconds > expiry) revert WrongExpiry();
        proposal = Proposal(structHash, uint64(block.timestamp), uint64(block.number), expiry);
    }

    function takeProposal(bytes32 structHash) private {
        Proposal memory pending = proposal;
        if (pending.structHash != structHash) revert NotProposed();
        if (block.timestamp > pending.expiry) revert WrongExpiry();
        if (
            block.timestamp < pending.proposedAt + disputeSeconds
                || block.number < pending.proposedBlock + disputeBlocks
        ) revert DisputePeriod();
        delete proposal;
    }

    function hashOf(Unlock calldata data) private pure returns (bytes32) {
        return keccak256(abi.encode(UNLOCK_TYPE, data.sequence, data.expiry));
    }

    function hashOf(SetAttestors calldata data) private pure returns (bytes32) {
        bytes32 members = keccak256(abi.encodePacked(data.attestors));
        return keccak256(abi.encode(SET_ATTESTORS_TYPE, members, data.quorum, data.sequence, data.expiry));
    }

    function hashOf(SetGuardians calldata data) private pure returns (bytes32) {
        bytes32 members = keccak256(abi.encodePacked(data.guardians));
        return keccak256(abi.encode(SET_GUARDIANS_TYPE, members, data.sequence, data.expiry));
    }

    function hashOf(SetCaps calldata data) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                SET_CAPS_TYPE, data.token, data.hourFloor, data.dayFloor, data.sequence, data.expiry
            )
        );
    }

    function hashOf(Invalidate calldata data) private pure returns (bytes32) {
        bytes32 ids = keccak256(abi.encodePacked(data.ids));
        return keccak256(abi.encode(INVALIDATE_TYPE, ids, data.sequence, data.expiry));
    }

    // Effects

    /// Ascending, so that none is there twice and none is zero. A cold key has no other role.
    function setMembers(Group storage group, address[] memory members) private {
        if (members.length == 0 || members.length > MAX_MEMBERS) revert InvalidMembers();
        for (uint256 i = 0; i < group.members.length; i++) {
            group.isMember[group.members[i]] = false;
        }
        address previous = address(0);
        for (uint256 i = 0; i < members.length; i++) {
            if (members[i] <= previous || coldKeys.isMember[members[i]]) revert InvalidMembers();
            previous = members[i];
            group.isMember[previous] = true;
        }
        group.members = members;
    }

    /// More than half, and never one key alone.
    function setQuorum(Group storage group, uint256 quorum) private {
        uint256 count = group.members.length;
        if (quorum < 2 || quorum > count || quorum * 2 <= count) revert InvalidQuorum();
        group.quorum = quorum;
    }

    function setCaps(address token, uint128 hourFloor, uint128 dayFloor) private {
        TokenState storage state = tokenStates[token];
        if (!state.isListed) {
            if (tokens.length == MAX_TOKENS || token.code.length == 0) revert InvalidToken();
            state.isListed = true;
            tokens.push(token);
        }
        state.hourFloor = hourFloor;
        state.dayFloor = dayFloor;
        emit CapsChanged(token, hourFloor, dayFloor);
    }

    function countAgainstCaps(address token, uint128 amount) private {
        TokenState storage state = tokenStates[token];
        if (!state.isListed) revert TokenNotListed();
        (uint256 hourCap, uint256 hourUsed, uint256 dayCap, uint256 dayUsed) = capsOf(token);
        if (hourUsed + amount > hourCap) revert HourCap(hourCap, hourUsed);
        if (dayUsed + amount > dayCap) revert DayCap(dayCap, dayUsed);
        addTo(state.hour, HOUR_PART, HOUR_PARTS, amount);
        addTo(state.day, DAY_PART, DAY_PARTS, amount);
    }

    function usedIn(mapping(uint256 => Part) storage window, uint256 width, uint256 parts)
        private
        view
        returns (uint256 used)
    {
        uint256 current = block.timestamp / width;
        for (uint256 i = 0; i < parts; i++) {
            Part memory part = window[i];
            if (part.number + parts > current) used += part.amount;
        }
    }

    function addTo(mapping(uint256 => Part) storage window, uint256 width, uint256 parts, uint128 amount)
        private
    {
        uint256 current = block.timestamp / width;
        Part storage part = window[current % parts];
        part.amount = part.number == current ? part.amount + amount : amount;
        part.number = uint64(current);
    }

    /// The vault must lose exactly the amount: a token that returns false, moves nothing or takes more reverts.
    /// What a token keeps of the amount on its way is the receiver's loss.
    function pay(Token token, address account, uint256 amount) private {
        uint256 before = token.balanceOf(address(this));
        (bool success, bytes memory result) =
            address(token).call(abi.encodeCall(Token.transfer, (account, amount)));
        // Some tokens return nothing.
        if (!success || (result.length > 0 && !abi.decode(result, (bool)))) revert TransferFailed();
        if (token.balanceOf(address(this)) + amount != before) revert TransferFailed();
    }

    function max(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a : b;
    }
}
