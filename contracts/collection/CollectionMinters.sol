// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "../interfaces/ICollection.sol";
import {IRelay} from "../interfaces/IRelay.sol";
import {CollectionOwnership} from "./CollectionOwnership.sol";

/// @title CollectionMinters
/// @notice Who may mint: the service until it is dismissed, and whom the owner appoints.
abstract contract CollectionMinters is CollectionOwnership {
    mapping(address account => bool) private _appointed;

    /// @dev The last variable here, so that a collection's counters can share its slot: a mint then reads one word.
    bool private _serviceDismissed;

    /// @dev The implementation itself mints nothing.
    constructor() {
        _serviceDismissed = true;
    }

    /// @inheritdoc ICollection
    function setMinter(address account, bool allowed) external onlyOwner {
        if (account == relay) _serviceDismissed = !allowed;
        else _appointed[account] = allowed;
        emit MinterSet(account, allowed);
    }

    /// @inheritdoc ICollection
    function isMinter(address account) public view returns (bool) {
        return account == relay ? !_serviceDismissed : _appointed[account];
    }

    /// @dev Reverts unless the caller may mint now. The service, which mints most, passes by one warm flag.
    function _checkMinter() internal view {
        if (!isMinter(msg.sender)) revert CollectionUnauthorizedMinter(msg.sender);
        if (msg.sender != relay && IRelay(relay).executing()) revert CollectionMintDuringBatch(msg.sender);
    }
}
