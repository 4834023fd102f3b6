// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "../interfaces/ICollection.sol";
import {IRelay} from "../interfaces/IRelay.sol";
import {CollectionOwnership} from "./CollectionOwnership.sol";

/// @title CollectionMinters
/// @notice Who may mint: the service until it is dismissed, and whom the owner appoints.
/// @dev Each kind of collection keeps the service's dismissal itself, next to what its mints read anyway.
abstract contract CollectionMinters is CollectionOwnership {
    mapping(address account => bool) private _appointed;

    /// @inheritdoc ICollection
    function setMinter(address account, bool allowed) external onlyOwner {
        if (account == relay) _setServiceDismissed(!allowed);
        else _appointed[account] = allowed;
        emit MinterSet(account, allowed);
    }

    /// @inheritdoc ICollection
    function isMinter(address account) external view returns (bool) {
        return account == relay ? !_serviceDismissed() : _appointed[account];
    }

    /// @dev Writes down whether the service may no longer mint.
    function _setServiceDismissed(bool dismissed) internal virtual;

    /// @dev Whether the service may no longer mint.
    function _serviceDismissed() internal view virtual returns (bool);

    /// @dev Reverts unless the caller may mint now.
    /// @param serviceDismissed What {_serviceDismissed} returns.
    function _checkMinter(bool serviceDismissed) internal view {
        if (msg.sender == relay) {
            if (serviceDismissed) revert CollectionUnauthorizedMinter(msg.sender);
        } else {
            if (!_appointed[msg.sender]) revert CollectionUnauthorizedMinter(msg.sender);
            if (IRelay(relay).executing()) revert CollectionMintDuringBatch(msg.sender);
        }
    }
}
