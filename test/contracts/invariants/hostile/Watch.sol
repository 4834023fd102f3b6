// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Watch
/// @notice Compares a collection with its last known state before and after every call of every account, also of calls
/// inside token hooks. Each change therefore has exactly one account that acted, and must be one that this account may
/// make.
abstract contract Watch {
    /// @notice The account in whose name batches act on collections.
    address public immutable RELAY_ADDRESS;

    /// @notice The first change that nobody was allowed to make. Must stay empty.
    string public fault;

    /// @dev The accounts that act now. The last one was called by a hook during a call of the one before it.
    address[] private _acting;

    /// @dev The transfers and burns that wallets signed and that were not seen yet.
    mapping(bytes32 transfer => uint256) private _signed;

    address[] private _accounts;

    constructor(address relay) {
        RELAY_ADDRESS = relay;
    }

    /// @notice Adds an account that acts or receives tokens.
    function add(address account) external {
        _accounts.push(account);
    }

    /// @notice A wallet signed this transfer; a burn has no receiver.
    function sign(address from, address to, uint256 id, uint256 amount) external {
        ++_signed[keccak256(abi.encode(from, to, id, amount))];
    }

    /// @notice An account starts a call.
    function start(address account) external {
        compare();
        _acting.push(account);
    }

    /// @notice The call of the last account that started one is over.
    function finish() external {
        compare();
        _acting.pop();
    }

    function accounts() external view returns (address[] memory) {
        return _accounts;
    }

    /// @notice Compares now. Batches call it between their items.
    function compare() public {
        _compare(_acting.length == 0 ? address(0) : _acting[_acting.length - 1]);
    }

    /// @dev Compares the collection with the last known state, and remembers the new state.
    /// @param actor The account that made all changes since the last comparison.
    function _compare(address actor) internal virtual;

    /// @dev Tells whether a wallet signed this transfer or burn. Each signature counts once.
    function _useSignature(address from, address to, uint256 id, uint256 amount) internal returns (bool) {
        bytes32 transfer = keccak256(abi.encode(from, to, id, amount));
        if (_signed[transfer] == 0) return false;
        --_signed[transfer];
        return true;
    }

    function _require(bool holds, string memory rule) internal {
        if (!holds && bytes(fault).length == 0) fault = rule;
    }

    function _accountCount() internal view returns (uint256) {
        return _accounts.length;
    }

    function _account(uint256 index) internal view returns (address) {
        return _accounts[index];
    }
}
