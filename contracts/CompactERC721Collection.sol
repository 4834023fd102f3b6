// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

import {ERC721Collection} from "./ERC721Collection.sol";
import {CompactHolders} from "./storage/CompactHolders.sol";

/// @title CompactERC721Collection
/// @notice The same collection as {ERC721Collection}, with owners and balances in {CompactHolders}. It replaces the
/// four functions of OpenZeppelin's `ERC721` that read or write owners and balances. Everything else is the same code.
contract CompactERC721Collection is ERC721Collection, CompactHolders {
    /// @dev Thrown instead of writing to a balance that nothing reads.
    error CompactBalanceWrite();

    /// @param relay_ The relay. Its address stands for the service.
    constructor(address relay_) ERC721Collection(relay_) {}

    /// @inheritdoc ERC721
    function balanceOf(address account) public view override returns (uint256) {
        if (account == address(0)) revert ERC721InvalidOwner(address(0));
        return _balanceOfHolder(account);
    }

    /// @dev As OpenZeppelin's function, with its order of checks, effects and events, on other storage.
    function _update(address to, uint256 tokenId, address auth) internal override returns (address from) {
        uint256 owners;
        uint256 holder;
        (from, owners, holder) = _findToken(tokenId);
        if (auth != address(0)) _checkAuthorized(from, auth, tokenId);
        if (from != address(0)) _approve(address(0), tokenId, address(0), false);
        _moveToken(from, to, tokenId, owners, holder);
        emit Transfer(from, to, tokenId);
    }

    /// @inheritdoc ERC721
    function _ownerOf(uint256 tokenId) internal view override returns (address) {
        (address account, , ) = _findToken(tokenId);
        return account;
    }

    /// @dev Balances change only together with owners. OpenZeppelin's function would write to its own mapping.
    function _increaseBalance(address, uint128) internal pure override {
        revert CompactBalanceWrite();
    }
}
