// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "../interfaces/ICollection.sol";
import {IRelay} from "../interfaces/IRelay.sol";
import {CollectionOwnership} from "./CollectionOwnership.sol";

/// @title CollectionMinters
/// @notice The right to mint. The service has it until the owner revokes it; the owner can grant it to other accounts.
/// @dev Each kind of collection stores the service's revocation itself, in a slot that its mints read anyway.
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

    /// @dev Stores whether the service's right to mint is revoked.
    function _setServiceDismissed(bool dismissed) internal virtual;

    /// @dev Tells whether the service's right to mint is revoked.
    function _serviceDismissed() internal view virtual returns (bool);

    /// @dev Reverts unless the caller can mint now.
    /// @param serviceDismissed The value of {_serviceDismissed}, which the caller has already read.
    function _checkMinter(bool serviceDismissed) internal view {
        if (msg.sender == relay) {
            if (serviceDismissed) revert CollectionUnauthorizedMinter(msg.sender);
        } else {
            if (!_appointed[msg.sender]) revert CollectionUnauthorizedMinter(msg.sender);
            if (IRelay(relay).executing()) revert CollectionMintDuringBatch(msg.sender);
        }
    }
}
