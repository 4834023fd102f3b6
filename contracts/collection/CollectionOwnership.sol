// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "../interfaces/ICollection.sol";
import {IRelay} from "../interfaces/IRelay.sol";
import {CollectionContext} from "./CollectionContext.sol";

/// @title CollectionOwnership
/// @notice Two-step ownership whose first owner is in the clone's arguments, or is the relay's owner at any time.
/// @dev Written by hand, because OpenZeppelin's module keeps its owner in storage that a clone would have to
/// initialise.
abstract contract CollectionOwnership is CollectionContext {
    /// @dev Counts only when `_ownershipMoved` is set.
    address private _owner;

    /// @dev Whether the ownership was ever accepted or renounced. Shares the slot with `_owner`.
    bool private _ownershipMoved;

    /// @dev To whom the ownership is offered, and by whom.
    address private _offeredTo;
    address private _offeredBy;

    modifier onlyOwner() {
        _checkOwner();
        _;
    }

    /// @dev The implementation itself belongs to nobody.
    constructor() {
        _ownershipMoved = true;
    }

    /// @inheritdoc ICollection
    function transferOwnership(address newOwner) external onlyOwner {
        _offeredTo = newOwner;
        _offeredBy = msg.sender;
        emit OwnershipTransferStarted(msg.sender, newOwner);
    }

    /// @inheritdoc ICollection
    function acceptOwnership() external {
        if (msg.sender != pendingOwner()) revert OwnableUnauthorizedAccount(msg.sender);
        _moveOwnership(msg.sender);
    }

    /// @inheritdoc ICollection
    function renounceOwnership() external onlyOwner {
        _moveOwnership(address(0));
    }

    /// @inheritdoc ICollection
    function owner() public view returns (address) {
        if (_ownershipMoved) return _owner;
        address firstOwner = _head().owner;
        return firstOwner == address(0) ? IRelay(relay).owner() : firstOwner;
    }

    /// @inheritdoc ICollection
    function pendingOwner() public view returns (address) {
        // The owner may change without a call here, when the relay's owner does. What the previous one offered is then
        // void.
        return _offeredBy == owner() ? _offeredTo : address(0);
    }

    /// @dev Reverts unless the owner calls.
    function _checkOwner() internal view {
        if (msg.sender != owner()) revert OwnableUnauthorizedAccount(msg.sender);
    }

    /// @dev Reverts unless the owner calls, or the service while nobody took the collection over from it.
    function _checkSteward() internal view {
        bool serviceIsSteward = msg.sender == relay && !_ownershipMoved && _head().owner == address(0);
        if (!serviceIsSteward && msg.sender != owner()) revert CollectionUnauthorizedSteward(msg.sender);
    }

    /// @dev Every offer ends with the ownership that it came from.
    function _moveOwnership(address newOwner) private {
        address previousOwner = owner();
        delete _offeredTo;
        delete _offeredBy;
        _ownershipMoved = true;
        _owner = newOwner;
        emit OwnershipTransferred(previousOwner, newOwner);
    }
}
