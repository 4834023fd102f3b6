// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "../interfaces/ICollection.sol";
import {IRelay} from "../interfaces/IRelay.sol";
import {CollectionContext} from "./CollectionContext.sol";

/// @title CollectionOwnership
/// @notice Two-step ownership. The first owner is named in the clone's arguments; if none is named, it is whoever owns
/// the relay.
/// @dev OpenZeppelin's `Ownable2Step` does not fit: it keeps the owner in storage, which each clone would have to
/// initialize.
abstract contract CollectionOwnership is CollectionContext {
    /// @dev Valid only if `_ownershipMoved` is true.
    address private _owner;

    /// @dev True once the ownership was accepted or renounced. Shares a slot with `_owner`.
    bool private _ownershipMoved;

    /// @dev The account to which the ownership is offered, the owner who offered it, and {_epoch} at that moment.
    address private _offeredTo;
    address private _offeredBy;
    uint96 private _offeredAt;

    modifier onlyOwner() {
        _checkOwner();
        _;
    }

    /// @dev The implementation contract has no owner.
    constructor() {
        _ownershipMoved = true;
    }

    /// @inheritdoc ICollection
    function transferOwnership(address newOwner) external onlyOwner {
        if (newOwner == relay) revert OwnableInvalidOwner(newOwner);
        _offeredTo = newOwner;
        _offeredBy = msg.sender;
        _offeredAt = _epoch();
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
        // The owner can change without a call to this contract, when the relay's owner changes. An offer by the
        // previous owner is then void, even if the same account becomes the relay's owner again.
        return _offeredBy == owner() && _offeredAt == _epoch() ? _offeredTo : address(0);
    }

    /// @dev Reverts unless the caller is the owner.
    function _checkOwner() internal view {
        if (msg.sender != owner()) revert OwnableUnauthorizedAccount(msg.sender);
    }

    /// @dev Reverts unless the caller is the owner, or is the service while the relay's owner is the owner by default.
    function _checkSteward() internal view {
        bool serviceIsSteward = msg.sender == relay && _followsRelay();
        if (!serviceIsSteward && msg.sender != owner()) revert CollectionUnauthorizedSteward(msg.sender);
    }

    /// @dev Changes the owner and deletes any open offer.
    function _moveOwnership(address newOwner) private {
        address previousOwner = owner();
        delete _offeredTo;
        delete _offeredBy;
        delete _offeredAt;
        _ownershipMoved = true;
        _owner = newOwner;
        emit OwnershipTransferred(previousOwner, newOwner);
    }

    /// @dev Tells whether the relay's owner owns the collection by default.
    function _followsRelay() private view returns (bool) {
        return !_ownershipMoved && _head().owner == address(0);
    }

    /// @dev Returns a number that changes whenever the owner changes without a call to this contract.
    function _epoch() private view returns (uint96) {
        // The cast is safe: nobody can pay for 2^96 changes.
        return _followsRelay() ? uint96(IRelay(relay).ownershipEpoch()) : 0;
    }
}
